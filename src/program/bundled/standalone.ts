import {runProcess, createInterruptibleContext} from '../main.js';

/* Entry point of the standalone executable, which needs no Node.js (scripts/build-binary.mjs). */
process.exitCode = await runProcess(process.argv.slice(2), createInterruptibleContext([process.execPath]));
