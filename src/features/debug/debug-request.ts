import {randomUUID} from 'node:crypto';
import {hostname} from 'node:os';
import {checkDnsLabel, checkDnsSubdomain} from '../../api/validation/validate-names.js';
import {UsageError} from '../../base/errors.js';
import {DEBUG_PROFILES, type DebugProfile} from '../../operations/debug/debug-profiles.js';
import {parseEnvironment} from '../../operations/run/parse-environment.js';
import type {EnvironmentContext, ReportContext} from '../../cli/command/contexts.js';
import type {DebugFlags} from './debug-flags.js';
import {parsePullPolicy, type PullPolicy} from '../pull/ensure-image.js';
import {KCRI_SESSION, type SessionStreams} from '../sessions/command-session.js';
import {ArgumentsError, ConflictError} from '../../cli/parsing/usage-errors.js';

/** Command line of `debug`. */
export interface DebugRequest {
  /** Container or pod; undefined with --node. */
  readonly ref: string | undefined;
  /** Command line of the debug container; empty for that of the image. */
  readonly words: readonly string[];
  readonly flags: DebugFlags;
  readonly profile: DebugProfile;
  readonly policy: PullPolicy;
  readonly environment: ReadonlyMap<string, string>;
  /** Name of the debug container if --container does not name it. */
  readonly newName: string;
  readonly streams: SessionStreams;
}

/** Command line of `debug`, split at `--`. */
interface DebugLine {
  readonly before: readonly string[];
  readonly after?: readonly string[] | undefined;
}

/** Checks a command line of `debug`; `node/NAME` is the same as --node. Throws UsageError. */
export function parseDebugRequest(
  services: EnvironmentContext & ReportContext,
  {before, after}: DebugLine,
  flags: DebugFlags,
): DebugRequest {
  const [, node] = /^nodes?\/(.+)$/.exec(before[0] ?? '') ?? [];
  if (node === undefined || flags.node) return parseLine(services, {before, after}, flags);
  requireThisNode(node);
  return parseLine(services, {before: before.slice(1), after}, {...flags, node: true});
}

function parseLine(
  services: EnvironmentContext & ReportContext,
  {before, after = []}: DebugLine,
  flags: DebugFlags,
): DebugRequest {
  checkArguments(before, flags);
  checkCombination(flags);
  const {container, 'copy-to': copy} = flags;
  if (container !== undefined) checkName('container', container, checkDnsLabel);
  if (copy !== undefined) checkName('copy-to', copy, checkDnsSubdomain);
  const {interactive: stdin, tty} = flags;
  return {
    ref: before[0],
    words: after,
    flags,
    profile: parseProfile(flags),
    policy: parsePullPolicy(flags.pull),
    environment: parseEnvironment([], flags.env ?? [], services.context.env),
    newName: `debugger-${randomUUID().slice(0, 5)}`,
    streams: KCRI_SESSION.availableStreams(services, {stdin, tty}),
  };
}

/** Throws UsageError unless there is exactly one container or pod, or none with --node. */
function checkArguments(before: readonly string[], {node}: DebugFlags): void {
  const [ref, surplus] = before;
  if (node && ref !== undefined)
    throw new ArgumentsError(`unexpected argument "${ref}": --node needs no container`);
  if (!node && (ref === undefined || ref === '')) throw new ArgumentsError('no container or pod specified');
  if (surplus !== undefined)
    throw new UsageError(`unexpected argument "${surplus}"`, {
      hint: `put "--" before the command: kcri debug ${ref ?? ''} -- ${before.slice(1).join(' ')}`,
    });
}

/** Throws UsageError unless this machine has the name, as in kubectl's `debug node/NAME`. */
function requireThisNode(name: string): void {
  if (name.toLowerCase() === hostname().toLowerCase()) return;
  throw new UsageError(`"${name}" is not this node, which is "${hostname()}"`, {
    hint: 'use --node for this node, and run kcri on other nodes there',
  });
}

/** Flags that only one of the modes has. */
const OF_COPY = ['set-image', 'replace'] as const;
const NOT_OF_COPY = ['target', 'keep', 'pull'] as const;
const NOT_OF_NODE = ['target', 'container', 'copy-to'] as const;

function checkCombination(flags: DebugFlags): void {
  const isGiven = (name: keyof DebugFlags): boolean => flags[name] !== undefined && flags[name] !== false;
  const copies = isGiven('copy-to');
  const conflict = (names: readonly (keyof DebugFlags)[], other: string): void => {
    const given = names.find(isGiven);
    if (given !== undefined) throw new ConflictError(`--${given} and ${other} are mutually exclusive`);
  };
  if (flags.node) conflict(NOT_OF_NODE, '--node');
  if (copies) conflict(NOT_OF_COPY, '--copy-to');
  const lacking = copies ? undefined : OF_COPY.find(isGiven);
  if (lacking !== undefined) throw new ConflictError(`--${lacking} requires --copy-to`);
  if (!copies && !flags.node && flags.image === undefined)
    throw new ArgumentsError('no image specified', {
      hint: 'name an image with tools, such as --image=busybox, or change a copy of the pod with --copy-to',
    });
}

function parseProfile({profile, node}: DebugFlags): DebugProfile {
  const name = profile ?? (node ? 'sysadmin' : 'general');
  const known = DEBUG_PROFILES.find((each) => each === name);
  if (known !== undefined) return known;
  throw new UsageError(`invalid --profile "${name}": must be one of ${DEBUG_PROFILES.join(', ')}`);
}

function checkName(flag: string, value: string, check: (value: string) => readonly string[]): void {
  const [problem] = check(value);
  if (problem !== undefined) throw new UsageError(`invalid --${flag} "${value}": ${problem}`);
}
