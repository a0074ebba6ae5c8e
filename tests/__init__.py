"""The suite: mirrors engine/ and app/, with the strictness that every test lives under."""
