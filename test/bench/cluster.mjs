// Simulates many nodes against one fake API server and measures their requests; updates docs/performance.md.
// Usage: npm run bench:cluster [-- --nodes=10,100,1000] [--pods=3] [--minutes=5]
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {parseArgs} from 'node:util';
import {compileFakes} from '../../scripts/compile-fakes.mjs';
import {writeSection} from './startup/report.mjs';

const {values} = parseArgs({
  options: {
    nodes: {type: 'string', default: '10,100,1000'},
    pods: {type: 'string', default: '3'},
    minutes: {type: 'string', default: '5'},
  },
});
const fakes = compileFakes();
if (fakes === undefined) throw new Error('test/fakes does not compile, see above');
const {simulateNodes} = await import(pathToFileURL(join(fakes, '../bench/cluster/simulate-nodes.js')).href);

const rows = [];
for (const nodes of values.nodes.split(',').map(Number)) {
  const result = await simulateNodes({
    nodes,
    podsPerNode: Number(values.pods),
    minutes: Number(values.minutes),
  });
  process.stderr.write(`${JSON.stringify(result)}\n`);
  rows.push(
    `| ${[
      result.nodes,
      result.startRequests.toFixed(1),
      result.idleRequests.toFixed(2),
      result.peak.toFixed(1),
      `${result.cpuMs.toFixed(1)} ms`,
      `${result.memoryKib.toFixed(0)} KiB`,
    ].join(' | ')} |`,
  );
}
const table = [
  `${values.pods} pods a node, ${values.minutes} minutes:`,
  '',
  '| nodes | requests of a node until its pods run | requests of an idle node per minute | busiest second against the mean | CPU of server and node, per node and minute | memory of server and node |',
  '| ---: | ---: | ---: | ---: | ---: | ---: |',
  ...rows,
].join('\n');
process.stdout.write(`${table}\n`);
writeSection('cluster', table);
