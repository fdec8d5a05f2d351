// An empty script: the lower bound for any Node.js program.
