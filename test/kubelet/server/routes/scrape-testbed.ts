import {parseScrape, type ParsedFamily, type ParsedSample} from '../../managers/metrics/parse-exposition.js';
import type {ServerTestbed} from '../server-testbed.js';

/** Returns the families of metrics at a path. */
export async function scrape({request}: ServerTestbed, path: string): Promise<readonly ParsedFamily[]> {
  return parseScrape(await request(path));
}

/** Returns the samples of a metric at a path. */
export async function samples(
  testbed: ServerTestbed,
  path: string,
  name: string,
): Promise<readonly ParsedSample[]> {
  return (await scrape(testbed, path)).find((family) => family.name === name)?.samples ?? [];
}

/** Parsed /stats/summary. */
export interface Summary {
  readonly node: Readonly<Record<string, Record<string, unknown>>>;
  readonly pods: readonly (Record<string, unknown> & {
    readonly containers: readonly Record<string, Record<string, unknown>>[];
  })[];
}

/** Returns the summary. */
export async function summary({request}: ServerTestbed, query = ''): Promise<Summary> {
  return JSON.parse((await request(`/stats/summary${query}`)).body) as Summary;
}
