#!/usr/bin/env node
import module from 'node:module';

// Absent in Node.js 20; where it exists it halves the time to load.
module.enableCompileCache?.();

const {main} = await import('../dist/cli/main.js');
process.exitCode = await main(process.argv.slice(2));
