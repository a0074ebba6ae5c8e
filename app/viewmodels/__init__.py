"""From a trace to what is shown. No Qt: tested without an application."""
