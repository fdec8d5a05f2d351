import type {VersionResponse} from '../../cri/index.js';

/** Formats the four lines of `version`, with two spaces after the colon as in crictl. */
export function versionText(response: VersionResponse): string {
  return [
    `Version:  ${response.version}`,
    `RuntimeName:  ${response.runtimeName}`,
    `RuntimeVersion:  ${response.runtimeVersion}`,
    `RuntimeApiVersion:  ${response.runtimeApiVersion}`,
  ].join('\n');
}
