import {expect, test} from 'vitest';
import {loadManifest} from '../../src/api/manifest/load-manifest.js';

const LABEL_REGEX = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
export const NOT_A_LABEL = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL_REGEX}')`;
export const NOT_A_SUBDOMAIN = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${LABEL_REGEX}(\\.${LABEL_REGEX})*')`;
export const NOT_A_QUALIFIED_NAME =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
export const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

export function issueMessages(text: string): string[] {
  return loadManifest(text, {file: 'pod.yaml'}).issues.map(({message}) => message);
}

/** Returns the issues of an otherwise valid Pod with these fields in its spec, in YAML flow style. */
export function specIssues(fields: string): string[] {
  return issueMessages(
    `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {${fields}, containers: [{name: c, image: i}]}\n`,
  );
}

/** Returns the issues of these fields in the only container, beside volumes of the kinds that matter to containers. */
export function containerIssues(fields: string): string[] {
  return issueMessages(
    `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  volumes: [{name: data}, {name: claim, persistentVolumeClaim: {claimName: x}}]\n` +
      `  containers:\n  - {name: c, image: i, ${fields}}\n`,
  ).map((message) => message.replace('spec.containers[0]', 'C'));
}

export function metadataIssues(fields: string): string[] {
  return issueMessages(
    `apiVersion: v1\nkind: Pod\nmetadata: {${fields}}\nspec: {containers: [{name: c, image: i}]}\n`,
  );
}

export function volumeIssues(fields: string): string[] {
  return specIssues(`volumes: [{name: v, ${fields}}]`).map((message) =>
    message.replace('spec.volumes[0]', 'V'),
  );
}

export type ValidationCase = readonly [fields: string, ...messages: readonly string[]];

/** Tests that each manifest fragment has exactly the given issues. */
export function testValidation(check: (fields: string) => string[], cases: readonly ValidationCase[]): void {
  test.each(cases.map(([fields, ...messages]) => ({fields, messages})))('$fields', ({fields, messages}) => {
    expect(check(fields)).toEqual(messages);
  });
}
