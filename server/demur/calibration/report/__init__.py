"""A calibrator on paper: figures and one page that fetches nothing."""
