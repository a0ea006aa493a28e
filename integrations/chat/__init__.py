"""A client for language models behind an OpenAI-compatible chat API, such as Ollama, llama.cpp and
vLLM. Start at client.py."""
