"""The Reverse Turing Test: can people imitate the model, with explanations and without, on tasks they know or not?"""
