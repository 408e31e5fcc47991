"""The uncertain case: do evidence and counter-evidence help people to find the true class where the model is unsure?"""
