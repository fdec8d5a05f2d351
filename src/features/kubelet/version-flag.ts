import {FlagError} from '../../cli/parsing/usage-errors.js';
import {parseBooleanValue} from '../../cli/parsing/tokenize.js';

/** Output and version that the values of `--version` request. */
export interface VersionRequest {
  /** Output that replaces the run; undefined for none. */
  readonly output: 'text' | 'raw' | undefined;
  /** Version to report, such as `v1.36.2-rc.1`. */
  readonly version: string;
}

/** A semantic version: major, minor and patch, and what a build adds to them. */
const SEMANTIC = /^v?(\d+\.\d+\.\d+)(?:-[\dA-Za-z.-]+)?(?:\+[\dA-Za-z.-]+)?$/;

/**
 * Returns what the values of `--version` request, the last of which counts (component-base verflag). A value that starts with
 * `v` sets the version to report. `known` is the version of this kubelet. Throws FlagError.
 */
export function readVersionFlag(values: readonly string[], known: string): VersionRequest {
  let version = known;
  for (const value of values.filter((each) => each.startsWith('v'))) version = checkVersion(value, known);
  const outputs = values.map((value) => (value.startsWith('v') ? undefined : outputOf(value)));
  return {output: outputs.at(-1), version};
}

function outputOf(value: string): VersionRequest['output'] {
  if (value === 'raw') return value;
  const isRequested = parseBooleanValue(value);
  if (isRequested === undefined)
    throw invalid(value, `must be true, false, raw or a version such as v1.36.2-x`);
  return isRequested ? 'text' : undefined;
}

/** Returns the version, which may differ from the known one in what follows the patch (ValidateDynamicVersion). */
function checkVersion(version: string, known: string): string {
  const [given, own] = [version, known].map((text) => SEMANTIC.exec(text)?.[1]);
  if (given === undefined) throw invalid(version, `could not parse ${JSON.stringify(version)} as version`);
  if (given === own) return version;
  const message = `version ${JSON.stringify(version)} must match major/minor/patch of default version`;
  throw invalid(version, `${message} ${JSON.stringify(known)}`);
}

function invalid(value: string, reason: string): FlagError {
  return new FlagError(`invalid argument ${JSON.stringify(value)} for "--version" flag: ${reason}`);
}

/** Formats a request's answer: the version alone, or all fields as Go prints them. */
export function formatVersion({output, version}: VersionRequest): string {
  if (output !== 'raw') return `Kubernetes ${version}`;
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const fields = {
    Major: major,
    Minor: minor,
    ...{EmulationMajor: '', EmulationMinor: '', MinCompatibilityMajor: '', MinCompatibilityMinor: ''},
    GitVersion: version,
    ...{GitCommit: '', GitTreeState: '', BuildDate: '1970-01-01T00:00:00Z', GoVersion: '', Compiler: ''},
    Platform: `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
  const texts = Object.entries(fields).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${texts.join(', ')}}`;
}
