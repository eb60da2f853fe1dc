"""The explorer: a page in the browser on which the set of outcomes follows the hand.

`server` speaks to pages, `worker` computes in other processes, and nothing but checked messages
passes between them.
"""
