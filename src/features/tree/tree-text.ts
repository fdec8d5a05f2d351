import type {ChalkInstance} from 'chalk';
import {humanSize} from '../../format/human-size.js';
import {truncateId} from '../../format/truncate-id.js';
import {fitLine, type LinePiece} from '../../cli/output/fit-line.js';
import type {LineGlyphs} from '../../cli/output/terminal-features.js';
import type {ContainerNode, PodNode, ProcessNode, SandboxNode} from './read-tree.js';

/** Options of formatPodTree. */
export interface PodTreeOptions {
  readonly chalk: ChalkInstance;
  readonly glyphs: LineGlyphs;
  /** Width of the output; Infinity outside of a terminal. */
  readonly columns: number;
}

/** Line of a tree and the lines below it. */
interface Branch {
  readonly pieces: readonly LinePiece[];
  readonly branches: readonly Branch[];
}

/** Returns the lines of pods with their sandboxes, containers and processes, each cut to the width. */
export function formatPodTree(
  pods: readonly PodNode[],
  {chalk, glyphs, columns}: PodTreeOptions,
): readonly string[] {
  const {branch: fork, lastBranch, vertical, ellipsis} = glyphs;
  const dim = (text: string): string => chalk.dim(text);
  const lines = (branch: Branch, first: string, rest: string): readonly string[] => [
    fitLine([[first, dim], ...branch.pieces], columns, ellipsis),
    ...branch.branches.flatMap((each, index) =>
      index === branch.branches.length - 1
        ? lines(each, `${rest}${lastBranch} `, `${rest}   `)
        : lines(each, `${rest}${fork} `, `${rest}${vertical}  `),
    ),
  ];
  return pods.flatMap((pod) => lines(podBranch(pod, chalk), '', ''));
}

function podBranch({namespace, name, manager, sandboxes}: PodNode, chalk: ChalkInstance): Branch {
  const title: LinePiece = [`${namespace}/${name}`, chalk.bold];
  return {
    pieces: [title, manager === 'none' ? '' : `  ${manager}`, sandboxes.length === 0 ? '  no sandbox' : ''],
    branches: sandboxes.map((sandbox) => sandboxBranch(sandbox, chalk)),
  };
}

function sandboxBranch({id, state, processes, containers}: SandboxNode, chalk: ChalkInstance): Branch {
  const paint = state === 'Ready' ? chalk.green : chalk.dim;
  return {
    pieces: [`sandbox ${truncateId(id)}  `, [state, paint]],
    branches: [
      ...processes.map((process) => processBranch(process, chalk)),
      ...containers.map((container) => containerBranch(container, chalk)),
    ],
  };
}

function containerBranch(container: ContainerNode, chalk: ChalkInstance): Branch {
  const {id, name, attempt, state, exitCode, processes} = container;
  const isFailed = exitCode !== undefined && exitCode !== 0;
  const paint = state === 'Running' ? chalk.green : isFailed ? chalk.red : chalk.dim;
  const end = exitCode === undefined ? '' : ` (${exitCode})`;
  return {
    pieces: [
      'container ',
      [name, chalk.cyan],
      ` ${truncateId(id)}  `,
      [`${state}${end}`, paint],
      attempt === 0 ? '' : `  attempt ${attempt}`,
    ],
    branches: processes.map((process) => processBranch(process, chalk)),
  };
}

function processBranch(
  {pid, user, command, cpuMs, memoryBytes, children}: ProcessNode,
  chalk: ChalkInstance,
): Branch {
  const usage = `  ${user}  ${cpuTime(cpuMs)}  ${humanSize(BigInt(memoryBytes))}  `;
  return {
    pieces: [String(pid), [usage, chalk.dim], command],
    branches: children.map((child) => processBranch(child, chalk)),
  };
}

/** Formats CPU time as ps does: MINUTES:SECONDS. */
function cpuTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
