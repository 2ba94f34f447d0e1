"""`palladion learn`: exercises on Pallas kernels whose answers are judged under every schedule (docs/learn/index.md).

`statement` is what an exercise is, `course` which there are and in what order, `judge` what an answer is worth,
`learner` the folder that a learner works in, `command` the verbs.
"""
