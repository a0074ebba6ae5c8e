"""What Draftscope claims, measured."""
