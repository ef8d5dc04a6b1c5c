"""The experiments of five papers, each with its data, its claim, and a rule that says whether the claim holds here.

`registry.PAPERS` has them all; `carrying_out.carry_out` runs one; `checking.differences` compares with stored results.
"""
