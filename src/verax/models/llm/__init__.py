"""Language models: local ones of the transformers library, and endpoints; asked for a class by a prompt (``[llm]``)."""
