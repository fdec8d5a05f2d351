#!/usr/bin/env node
'use strict';
const {existsSync} = require('node:fs');

/** What `npm run build` makes of dist/cli, see scripts/bundle.mjs. */
const quick = `${__dirname}/../dist/quick/loader.cjs`;

/** A kubelet's log names the source that each line comes from, which the bundle can't tell. */
const isQuick = existsSync(quick) && !process.argv.includes('kubelet');

async function program() {
  return isQuick ? require(quick).program : await import('../dist/cli/main.js');
}

program()
  .then(({main}) => main(process.argv.slice(2)))
  .then((exitCode) => {
    process.exitCode = exitCode;
  });
