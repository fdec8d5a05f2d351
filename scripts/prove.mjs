/**
 * Checks what tests declare to prove (scripts/evidence/declarations.mjs): takes the field away from every Pod, or the flag
 * from every command line, and runs the tests that declare it, which must fail. End-to-end tests are not checked.
 *
 * `node scripts/prove.mjs [SUBJECT…]`, such as `PodSpec.hostAliases` or `"ps --label"`, checks all subjects or these.
 * Prints each declaration that does not hold, and exits 1 when there is one.
 */
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {readDeclarations} from './evidence/declarations.mjs';
import {OmittingRunner} from './evidence/omitting-runner.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const chosen = new Set(process.argv.slice(2));
/** A command alone, such as `ps`, cannot be taken away. */
const canOmit = (subject) => /[.]| --/.test(subject);
const declared = readDeclarations(root)
  .filter(({file}) => !file.startsWith('test/e2e/'))
  .flatMap(({subjects, ...test}) => subjects.map((subject) => ({...test, subject})))
  .filter(({subject}) => canOmit(subject) && (chosen.size === 0 || chosen.has(subject)));

/** Returns why a declaration does not hold, or undefined. */
function findFault({file, line, endLine}, {omittedIn, failed}) {
  if (!omittedIn.has(file)) return 'the test does not use it';
  return failed.some((test) => test.file === file && test.line >= line && test.line <= endLine)
    ? undefined
    : 'the test passes without it';
}

const runner = await OmittingRunner.start(root);
let holds = 0;
let faults = 0;
for (const subject of new Set(declared.map((each) => each.subject))) {
  const declarations = declared.filter((each) => each.subject === subject);
  const outcome = await runner.run(subject, [...new Set(declarations.map(({file}) => file))]);
  for (const declaration of declarations) {
    const fault = findFault(declaration, outcome);
    if (fault === undefined) holds++;
    else {
      faults++;
      process.stdout.write(
        `${subject}: ${declaration.file}:${declaration.line}: ${declaration.title}: ${fault}\n`,
      );
    }
  }
}
await runner.close();
process.stdout.write(`${holds} of ${holds + faults} declarations hold\n`);
process.exitCode = faults === 0 ? 0 : 1;
