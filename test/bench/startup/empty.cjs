// The least that any program of Node.js takes.
