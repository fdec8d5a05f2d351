import type {VersionResponse} from '../../cri/index.js';

/** The four lines of `version`; two blanks after the colon, as crictl prints them. */
export function versionText(response: VersionResponse): string {
  return [
    `Version:  ${response.version}`,
    `RuntimeName:  ${response.runtimeName}`,
    `RuntimeVersion:  ${response.runtimeVersion}`,
    `RuntimeApiVersion:  ${response.runtimeApiVersion}`,
  ].join('\n');
}
