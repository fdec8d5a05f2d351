#!/usr/bin/env node
'use strict';
const {existsSync} = require('node:fs');

/** Made from dist/cli by `npm run build`, see scripts/bundle.mjs. */
const quick = `${__dirname}/../dist/quick/loader.cjs`;

async function program() {
  return existsSync(quick) ? require(quick) : {program: await import('../dist/cli/main.js')};
}

program().then(async ({program: {main}, keepCompiled}) => {
  process.exitCode = await main(process.argv.slice(2));
  // A failed run has not called what the command needs.
  if (process.exitCode === 0) keepCompiled?.();
  // All output is written. Exiting at once is quicker than letting the engine shut down piece by piece.
  process.exit();
});
