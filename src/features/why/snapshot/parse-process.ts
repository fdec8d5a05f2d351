import {parseListeningSockets} from '../../../base/host/find-port-owner.js';
import type {ProcessFacts} from './pod-snapshot.js';

const SIGTERM = 15n;

/** Returns facts of `/proc/PID/status`; `wchan` is empty if it cannot be read. */
export function parseProcessStatus(pid: number, status: string, wchan: string): ProcessFacts {
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
  const isFirst = /(?:^|\s)1$/.test(field('NSpid'));
  const handles = hasSignal(field('SigCgt'), SIGTERM);
  return {
    pid,
    state: field('State').slice(0, 1),
    sleepsIn: wchan === '0' ? '' : wchan,
    ignoresTerm: hasSignal(field('SigIgn'), SIGTERM) || (isFirst && !handles),
  };
}

/** Number of functions of the kernel that are kept. */
const MAX_FRAMES = 8;

/** Returns the functions in `/proc/PID/stack`, the innermost first: `[<0>] nfs_wait_bit+0x1a/0x50`. */
export function parseStack(text: string): readonly string[] {
  return [...text.matchAll(/^\[<[0-9a-f]*>\] ([^\s+]+)/gm)].map(([, name = '']) => name).slice(0, MAX_FRAMES);
}

function hasSignal(mask: string, signal: bigint): boolean {
  return /^[0-9a-f]+$/.test(mask) && ((BigInt(`0x${mask}`) >> (signal - 1n)) & 1n) === 1n;
}

/** Returns the ports of listening sockets in the texts of `/proc/PID/net/tcp` and `tcp6`, in order, each once. */
export function parseListeningPorts(...texts: readonly string[]): readonly number[] {
  const ports = parseListeningSockets(...texts).map(({port}) => port);
  return [...new Set(ports)].toSorted((a, b) => a - b);
}
