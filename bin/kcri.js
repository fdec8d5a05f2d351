#!/usr/bin/env node
'use strict';
const {existsSync} = require('node:fs');

/** What `npm run build` makes of dist/cli, see scripts/bundle.mjs. */
const quick = `${__dirname}/../dist/quick/loader.cjs`;

async function program() {
  return existsSync(quick) ? require(quick) : {program: await import('../dist/cli/main.js')};
}

program().then(async ({program: {main}, keepCompiled}) => {
  process.exitCode = await main(process.argv.slice(2));
  // What failed has not shown what the command needs.
  if (process.exitCode === 0) keepCompiled?.();
  // All is written. What the engine holds goes with the process, sooner than when it is taken down piece by piece.
  process.exit();
});
