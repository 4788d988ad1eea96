"""What sparse kernel means are good for. The applications are independent of one another."""
