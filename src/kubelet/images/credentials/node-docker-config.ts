import {constants} from 'node:fs';
import {join, resolve} from 'node:path';
import type {Clock} from '../../../base/clock.js';
import {SystemError} from '../../../base/errors.js';
import {ifPresent, withFile} from '../../../base/files.js';
import {systemReason} from '../../../base/system-reason.js';
import {parseDockerConfig, type DockerConfig, type DockerConfigFormat} from './docker-config.js';

/** Where a node's docker config may be. */
export interface DockerConfigPlaces {
  readonly rootDir: string;
  readonly homeDir: string | undefined;
}

/** A file that may hold the node's docker config. */
export interface DockerConfigFile {
  readonly path: string;
  readonly format: DockerConfigFormat;
}

/**
 * The files in the kubelet's order (DefaultDockerConfigJSONPaths, DefaultDockercfgPaths): the first that can be read
 * counts. The working directory is left out: the kubelet's is its service's own, kcri's is wherever root stands, and
 * what lies there may be anybody's.
 */
export function dockerConfigFiles({rootDir, homeDir}: DockerConfigPlaces): readonly DockerConfigFile[] {
  const home = homeDir === undefined || homeDir === '' ? [] : [homeDir];
  const dotDocker = [...home, '/'].map((dir) => join(dir, '.docker'));
  const json = [rootDir, ...dotDocker].map((dir) => join(dir, 'config.json'));
  const legacy = [rootDir, ...home, '/'].map((dir) => join(dir, '.dockercfg'));
  return [
    ...json.map((path) => ({path: resolve(path), format: 'config.json' as const})),
    ...legacy.map((path) => ({path: resolve(path), format: '.dockercfg' as const})),
  ];
}

/** For how long a file that was read counts. */
const LIFETIME_MS = 5 * 60_000;

/** What was found, and which files were passed over and why. */
export interface NodeDockerConfig {
  readonly config: DockerConfig;
  readonly problems: readonly string[];
}

/** Reads the node's docker config when it is wanted, at most every five minutes (CachingDockerConfigProvider). */
export class NodeDockerConfigReader {
  readonly #files: readonly DockerConfigFile[];
  readonly #clock: Clock;
  #cached: {readonly found: NodeDockerConfig; readonly until: number} | undefined;

  constructor(files: readonly DockerConfigFile[], clock: Clock) {
    this.#files = files;
    this.#clock = clock;
  }

  /** Empty when there is no file; one that is no regular file, can't be read or is broken is passed over. */
  async read(): Promise<NodeDockerConfig> {
    const now = this.#clock.now();
    if (this.#cached !== undefined && now < this.#cached.until) return this.#cached.found;
    const found = await this.#readFirst();
    this.#cached = {found, until: now + LIFETIME_MS};
    return found;
  }

  async #readFirst(): Promise<NodeDockerConfig> {
    const problems: string[] = [];
    for (const {path, format} of this.#files) {
      try {
        const text = await ifPresent(() => readRegularFile(path));
        const config = text === undefined ? undefined : parseDockerConfig(text, format);
        if (config !== undefined) return {config, problems};
      } catch (error) {
        problems.push(`${JSON.stringify(path)} was passed over: ${systemReason(error)}`);
      }
    }
    return {config: new Map(), problems};
  }
}

/** Opened without blocking: a FIFO would never answer. */
async function readRegularFile(path: string): Promise<string> {
  return await withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, 0, async (file) => {
    if (!(await file.stat()).isFile()) throw new SystemError('it is not a regular file');
    return await file.readFile('utf8');
  });
}
