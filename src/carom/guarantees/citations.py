"""Where statements of the paper stand in its PDF, by the labels of its source.

Theorems, lemmas, assumptions and so on are counted each on their own, as LaTeX counts them unless
told otherwise. The section is part of every place: it leads there in an edition that counts
differently.
"""

from __future__ import annotations

PLACES = {
    "prop:epsilonnet": "Lemma 1, Section 2.1",
    "def:LCPDef": "Definition 5, Section 2.1",
    "def:inclusionsolution": "Definition 3, Section 2.1",
    "prop:closure": "Proposition 1, Section 2.1",
    "prop:LCPCopExist": "Proposition 2, Section 2.1",
    "prop:AffineLCPLipschitz": "Proposition 3, Section 2.1",
    "assump:NoDegenerateContacts": "Assumption 1, Section 2.2",
    "assump:nondegenerate": "Assumption 2, Section 2.2",
    "eq:AnitestcuDiscreteFormulation": "Equation 31, Section 2.2",
    "eq:routhsingle": "Equation 36, Section 2.2",
    "lem:singlefrictional": "Lemma 2, Section 2.2",
    "eq:multicontact": "Equation 39, Section 3.2",
    "lem:NonEmptyClosure": "Theorem 1, Section 3.3",
    "lem:dissipate": "Theorem 2, Section 3.3",
    "thm:strictdissipation": "Corollary 1, Section 3.3",
    "prop:nondegeneratedissipation": "Proposition 4, Section 3.3",
    "lem:exit": "Lemma 3, Section 3.3",
    "thm:nondegeneratedissipation": "Theorem 3, Section 3.3",
    "coro:uniform": "Corollary 2, Section 3.3",
    "lem:homogeneity": "Lemma 11, Appendix C.2",
    "thm:stop": "Lemma 12, Appendix C.4",
    "eq:ContinuousTimeModel": "Equation 53, Section 4.1",
    "assump:ConvexCompactUSCInputs": "Assumption 3, Section 4.1",
    "assump:EnergyIncreasesSlowly": "Assumption 4, Section 4.2",
    "assump:DerivativeMapCompactImages": "Assumption 5, Section 4.2",
    "thm:ContinuousTimeSolutions": "Theorem 4, Section 4.2",
    "thm:ContinuousTimeDoesNotPenetrate": "Lemma 4, Section 4.2",
    "thm:ContinuousTimeImpactSelection": "Lemma 5, Section 4.2",
    "thm:ContinuousTimeMinimumAdvancement": "Theorem 5, Section 4.2",
    "coro:AggregateAdvancement": "Corollary 3, Section 4.2",
    "eq:SimulationLCP": "Equation 75, Section 5.1",
    "alg:ImpactSimulation": "Algorithm 1, Section 5.1",
    "thm:TimesteppingSolutionExistence": "Theorem 6, Section 5.2",
    "thm:TimesteppingDissipation": "Theorem 7, Section 5.2",
    "lem:NetForceBoundedByIndividualForces": "Lemma 6, Section 5.2",
    "thm:ExponentialSimulationDecay": "Theorem 8, Section 5.2",
    "lem:NonzeroLambdamaxNonzeroLambda": "Lemma 13, Appendix E.3",
    "assump:uniqueLCPoutcome": "Assumption 6, Section 5.3",
    "lem:SimulationLCPLipschitz": "Lemma 7, Section 5.3",
    "lem:VelocityStationaryConditions": "Lemma 8, Section 5.3",
    "lem:ApproximateTermination": "Lemma 9, Section 5.3",
    "lem:VPlusNConvergence": "Lemma 10, Section 5.3",
    "alg:Approximate": "Algorithm 2, Section 5.3",
    "thm:VelocitySetApproximation": "Theorem 9, Section 5.3",
    "thm:Rellich": "Proposition 5, Appendix B",
}
"""Label in the paper's source -> number and section in its PDF."""


def cite(*labels: str) -> str:
    """Return where statements stand, e.g. "Halm and Posa 2024: Theorem 8, Section 5.2"."""
    return f"Halm and Posa 2024: {'; '.join(PLACES[label] for label in labels)}"
