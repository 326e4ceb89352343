"""One HTML page of what lies in the temp roots, whole in itself. Pure: documents in, text out."""
