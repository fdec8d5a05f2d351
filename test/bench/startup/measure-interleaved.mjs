import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {median} from '../median.mjs';

const RUN_ONCE = fileURLToPath(new URL('run-once.pl', import.meta.url));
const KCRI = fileURLToPath(new URL('../../../bin/kcri.js', import.meta.url));
const EMPTY = fileURLToPath(new URL('empty.cjs', import.meta.url));
const MEASURES = ['wall', 'cpu', 'memory'];

/**
 * Runs crictl, kcri, an empty script and, if it exists, kcri's executable alternately, so that other load affects all
 * of them. Returns the medians, and the medians of the ratios to crictl per round.
 */
export function measureInterleaved({node, program, args, exitCode, env, rounds}) {
  const tools = {
    crictl: ['crictl', ...args],
    kcri: [node, KCRI, ...args],
    floor: [node, EMPTY],
    ...(program !== undefined && {program: [program, ...args]}),
  };
  const samples = Object.fromEntries(Object.keys(tools).map((name) => [name, []]));
  // The first round only fills the caches of the disk and of compiled code.
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, command] of Object.entries(tools)) {
      const sample = runOnce(command, env, name === 'floor' ? 0 : exitCode);
      if (round > 0) samples[name].push(sample);
    }
  return {
    crictl: medians(samples.crictl),
    kcri: medians(samples.kcri),
    ratio: ratios(samples.kcri, samples.crictl),
    floor: ratios(samples.floor, samples.crictl),
    ...(program !== undefined && {
      program: medians(samples.program),
      programRatio: ratios(samples.program, samples.crictl),
    }),
  };
}

/** Runs a command. Throws unless it exits with the given code, so that no failing command is measured by mistake. */
export function runOnce(command, env, expected = 0) {
  const {stdout, stderr, status} = spawnSync('perl', [RUN_ONCE, ...command], {env, encoding: 'utf8'});
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
  const [exitCode, wall, cpu, kib] = stdout.split(' ').map(Number);
  if (exitCode !== expected) throw new Error(`${command.join(' ')} exited with ${exitCode}`);
  return {wall: wall / 1000, cpu: cpu / 1000, memory: kib / 1024};
}

export function medians(samples) {
  return Object.fromEntries(MEASURES.map((name) => [name, median(samples.map((sample) => sample[name]))]));
}

export function ratios(samples, others) {
  return Object.fromEntries(
    MEASURES.map((name) => [name, median(samples.map((sample, i) => sample[name] / others[i][name]))]),
  );
}
