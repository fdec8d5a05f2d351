#!/bin/sh
':' //; exec node -- "$0" "$@"
'use strict';
/*
 * The second line is a command for the shell, and a string for Node.js. Without "--", Node.js 20 and 22 would read the
 * file of "kcri run --env-file FILE" themselves: variables of the container, and a pipe that can be read only once.
 */
const {existsSync} = require('node:fs');

/** Made from dist by `npm run build`, see scripts/bundle.mjs. */
const quick = `${__dirname}/../dist/quick/loader.cjs`;

async function program() {
  return existsSync(quick) ? require(quick) : {program: await import('../dist/program/main.js')};
}

program().then(async ({program: {runProcess}, keepCompiled}) => {
  process.exitCode = await runProcess(process.argv.slice(2));
  // A failed run has not called what the command needs.
  if (process.exitCode === 0) keepCompiled?.();
  // All output is written. Exiting at once is quicker than letting the engine shut down piece by piece, and this is what
  // process.exit() does after Node.js has compiled it.
  process.emit('exit', process.exitCode);
  process.reallyExit(process.exitCode);
});
