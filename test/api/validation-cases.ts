import {expect, test} from 'vitest';
import {loadManifest} from '../../src/api/load-manifest.js';

const LABEL_REGEX = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
export const NOT_A_LABEL = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL_REGEX}')`;
export const NOT_A_SUBDOMAIN = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${LABEL_REGEX}(\\.${LABEL_REGEX})*')`;
export const NOT_A_QUALIFIED_NAME =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
export const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

export function issueMessages(text: string): string[] {
  return loadManifest(text, {file: 'pod.yaml'}).issues.map(({message}) => message);
}

/** What is wrong with a Pod that is right but for some fields of its spec, in YAML's flow style. */
export function specIssues(fields: string): string[] {
  return issueMessages(
    `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {${fields}, containers: [{name: c, image: i}]}\n`,
  );
}

/** The same for fields of its only container, beside a volume of every kind that matters to containers. */
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

/** Each case is a fragment of a manifest and all that is wrong with it. */
export function testValidation(check: (fields: string) => string[], cases: readonly ValidationCase[]): void {
  test.each(cases.map(([fields, ...messages]) => ({fields, messages})))('$fields', ({fields, messages}) => {
    expect(check(fields)).toEqual(messages);
  });
}
