"""What a Gaussian density can be asked: it is a small mixture, so most answers are closed forms."""
