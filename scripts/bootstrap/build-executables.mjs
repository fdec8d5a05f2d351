/** Makes what vitest's project `binary` runs: the executable for this machine, and its twin. dist must be there. */
import {HOST_TARGET} from '../binary/runtimes.mjs';
import {buildBinaries, buildTwin} from '../build-binary.mjs';

await buildBinaries([HOST_TARGET]);
await buildTwin();
