"""The recurrent network that the paper compares with: an IndRNN with one output, its neighbourhood, its gradients, its data."""
