import {access, constants} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {SystemError} from '../../../base/errors.js';
import {runProgram} from '../../../base/host/run-program.js';
import type {ImageRuntime} from './image-runtime.js';

/** Programs that work on the storage of CRI-O (containers/storage). */
export type StorageTool = 'skopeo' | 'podman' | 'buildah';

/** Time after which a program is killed, in milliseconds: archives can be large. */
const TIMEOUT_MS = 3_600_000;

/** A program that was found, and its path. */
export interface FoundTool {
  readonly tool: StorageTool;
  readonly path: string;
}

/** Finds the first of the programs in PATH. Rejects with SystemError, which names `command`, if there is none. */
export async function findStorageTool(
  command: string,
  tools: readonly StorageTool[],
  {env, isRemote}: Pick<ImageRuntime, 'env' | 'isRemote'>,
): Promise<FoundTool> {
  if (isRemote)
    throw new SystemError(`"kcri ${command}" cannot change the images of CRI-O on another node`, {
      hint: `run it on the node: ssh NODE kcri ${command}`,
    });
  const directories = (env['PATH'] ?? '').split(delimiter).filter((each) => each !== '');
  for (const tool of tools)
    for (const directory of directories) {
      const path = join(directory, tool);
      if (await isExecutable(path)) return {tool, path};
    }
  throw new SystemError(`"kcri ${command}" needs ${tools.join(' or ')} on CRI-O, and it is not installed`, {
    hint: `install ${tools[0] ?? ''} on the machine of the runtime`,
  });
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Runs a storage program and returns its output. Rejects with SystemError if it fails. */
export async function runStorageTool(
  {tool, path}: FoundTool,
  args: readonly string[],
  {env, signal}: Pick<ImageRuntime, 'env' | 'signal'>,
): Promise<string> {
  const {exitCode, output, errorOutput} = await runProgram(path, {
    args,
    env,
    input: '',
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  if (exitCode === 0) return output;
  const reason = errorOutput.trim().split('\n').at(-1) ?? '';
  throw new SystemError(`${tool} ${args[0] ?? ''} failed${reason === '' ? '' : `: ${reason}`}`, {
    hint: `run "${tool} ${args.join(' ')}" to see all of its output`,
  });
}
