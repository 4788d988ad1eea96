"""Pictures of fitted means."""
