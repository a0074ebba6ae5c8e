"""What proposes tokens: small models, heads on the target's hidden states, n-gram look-ups."""
