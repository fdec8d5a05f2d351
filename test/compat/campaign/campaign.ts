import {readFileSync} from 'node:fs';
import {CASES, compatCase, type Case, type CompatCase} from '../cases.js';
import {generatedCases} from '../generated-lines.js';
import {combinedFlags, flagLines, helpLines} from './flag-lines.js';
import {configFiles, crictlFiles} from './config-files.js';
import {argumentLines} from './argument-lines.js';
import {checkLines} from './check-lines.js';
import type {Values} from './values.js';

/** Reads the values and line patterns of the campaign. Called in the project's directory. */
function readValues(): Values {
  return JSON.parse(readFileSync('test/compat/campaign/values.json', 'utf8')) as Values;
}

/** Returns command lines with templates. */
function templateLines({templates}: Values): readonly Case[] {
  const others = [['inspectp', '{web}'], ['inspecti', '{busybox}'], ['info'], ['imagefsinfo']];
  return templates.map((template, at): Case => {
    const other = at % 3 === 0 ? others[(at / 3) % 5] : undefined;
    const [command = '', ...ids] = other ?? ['inspect', '{nginx}'];
    return [[command, '-o', 'go-template', '--template', template, ...ids], {}];
  });
}

/**
 * Returns about 5,500 command lines: each kind of value in each kind of flag, argument and config file, combinations of
 * flags, each RPC with each error and with Ctrl-C, and lines with two faults. They are compared, not recorded.
 */
export function campaignCases(): readonly CompatCase[] {
  const values = readValues();
  const known = new Set([...Object.values(CASES).flat(), ...generatedCases()].map(({title}) => title));
  const all = [
    ...flagLines(values),
    ...combinedFlags(values),
    ...helpLines(values),
    ...argumentLines(values),
    ...templateLines(values),
    ...configFiles(values),
    ...crictlFiles(values),
    ...checkLines(values),
  ].map(compatCase);
  return [...new Map(all.map((each) => [each.title, each])).values()].filter(({title}) => !known.has(title));
}
