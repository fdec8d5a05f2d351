import {main, thisProcess} from '../main.js';

/* The executable that needs no Node.js (scripts/build-binary.mjs) starts here. */
process.exitCode = await main(process.argv.slice(2), thisProcess([process.execPath]));
