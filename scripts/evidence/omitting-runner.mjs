import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {createVitest} from 'vitest/node';

/** Runs unit tests again and again without one field or flag, in one Vitest, which transforms each file once. */
export class OmittingRunner {
  #root;
  #vitest;
  #folder;

  /** @param {string} root the checkout */
  static async start(root) {
    const runner = new OmittingRunner();
    runner.#root = root;
    runner.#folder = mkdtempSync(join(tmpdir(), 'kcri-prove-'));
    process.env.KCRI_TEST_OMIT = runner.#folder;
    runner.#vitest = await createVitest('test', {
      root,
      watch: false,
      project: 'unit',
      reporters: [{}],
      includeTaskLocation: true,
    });
    return runner;
  }

  /**
   * Runs files without the subject; with '' nothing is taken away.
   *
   * @param {string} subject
   * @param {readonly string[]} files relative to the checkout
   * @returns the tests that failed, by file and line, and the files in which something was taken away
   */
  async run(subject, files) {
    const omissions = join(this.#folder, 'omissions');
    writeFileSync(join(this.#folder, 'subject'), subject);
    writeFileSync(omissions, '');
    const specifications = await this.#vitest.getRelevantTestSpecifications(files);
    const {testModules} = await this.#vitest.runTestSpecifications(specifications);
    // The modules of earlier runs are among them.
    const own = testModules.filter((module) => files.includes(relative(this.#root, module.moduleId)));
    const failed = own.flatMap((module) =>
      Array.from(module.children.allTests('failed'), (test) => ({
        file: relative(this.#root, module.moduleId),
        line: test.location?.line ?? 0,
      })),
    );
    const omittedIn = new Set(
      readFileSync(omissions, 'utf8')
        .split('\n')
        .map((file) => relative(this.#root, file)),
    );
    return {failed, omittedIn};
  }

  async close() {
    await this.#vitest.close();
    rmSync(this.#folder, {recursive: true});
  }
}
