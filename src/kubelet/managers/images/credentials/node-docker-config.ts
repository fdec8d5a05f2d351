import {constants} from 'node:fs';
import {join, resolve} from 'node:path';
import type {Clock} from '../../../../base/clock.js';
import {rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {ifPresent, withFile} from '../../../../base/fs/files.js';
import {systemErrorMessage} from '../../../../base/system-error-message.js';
import {parseDockerConfig, type DockerConfig, type DockerConfigFormat} from './docker-config.js';

/** Directories that may contain the node's docker config. */
export interface DockerConfigLocations {
  readonly rootDir: string;
  readonly homeDir: string | undefined;
}

/** A file that may hold the node's docker config. */
export interface DockerConfigFile {
  readonly path: string;
  readonly format: DockerConfigFormat;
}

/**
 * Returns the possible files in the kubelet's order (DefaultDockerConfigJSONPaths, DefaultDockercfgPaths); the first
 * valid one is used. Unlike in the kubelet, the working directory is not searched: kcri may run in any directory, whose
 * files may belong to other users.
 */
export function dockerConfigFiles({rootDir, homeDir}: DockerConfigLocations): readonly DockerConfigFile[] {
  const home = homeDir === undefined || homeDir === '' ? [] : [homeDir];
  const dotDocker = [...home, '/'].map((dir) => join(dir, '.docker'));
  const json = [rootDir, ...dotDocker].map((dir) => join(dir, 'config.json'));
  const legacy = [rootDir, ...home, '/'].map((dir) => join(dir, '.dockercfg'));
  return [
    ...json.map((path) => ({path: resolve(path), format: 'config.json' as const})),
    ...legacy.map((path) => ({path: resolve(path), format: '.dockercfg' as const})),
  ];
}

const CACHE_MS = 5 * 60_000;

/** The node's docker config, and why files were skipped. */
export interface NodeDockerConfig {
  readonly config: DockerConfig;
  readonly problems: readonly string[];
}

/** Reads the node's docker config on demand and caches it for 5 minutes (CachingDockerConfigProvider). */
export class NodeDockerConfigReader {
  readonly #files: readonly DockerConfigFile[];
  readonly #clock: Clock;
  #cached: {readonly found: NodeDockerConfig; readonly until: number} | undefined;

  constructor(files: readonly DockerConfigFile[], clock: Clock) {
    this.#files = files;
    this.#clock = clock;
  }

  /**
   * Returns the config of the first valid file; empty without one. Unreadable, invalid and non-regular files are
   * skipped.
   */
  async read(): Promise<NodeDockerConfig> {
    const now = this.#clock.monotonic();
    if (this.#cached !== undefined && now < this.#cached.until) return this.#cached.found;
    const found = await this.#readFirst();
    this.#cached = {found, until: now + CACHE_MS};
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
        rethrowUnexpected(error);
        problems.push(`skipped ${JSON.stringify(path)}: ${systemErrorMessage(error)}`);
      }
    }
    return {config: new Map(), problems};
  }
}

/** Reads a regular file. It is opened without blocking, because opening a FIFO would block. */
async function readRegularFile(path: string): Promise<string> {
  return await withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, 0, async (file) => {
    if (!(await file.stat()).isFile()) throw new SystemError('not a regular file');
    return await file.readFile('utf8');
  });
}
