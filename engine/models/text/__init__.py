"""Text and tokens: vocabularies, streams and chat templates."""
