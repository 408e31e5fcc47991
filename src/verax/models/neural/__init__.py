"""Networks: trained here on a dataset's own inputs, or brought along. They need torch (the extra ``neural``)."""

# The file by which a folder is known to be a saved model.
ABOUT = "model.json"
