"""The paper's figures and tables, reproduced, and the compliant model that it compares with."""
