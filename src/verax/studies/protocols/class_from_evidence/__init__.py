"""The class from the evidence: do the fragments that an explanation picks tell the predicted class?"""
