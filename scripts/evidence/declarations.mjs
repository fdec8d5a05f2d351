/**
 * Reads what tests declare to prove: a comment `// Proves: ps --label, pods --label` or `// Proves: PodSpec.hostAliases`
 * right before a `test` or `describe`. A subject is a command (`ps`), a flag of a command (`ps --label`, `kcri --timeout`)
 * or a field of the Pod API (`PodSpec.hostAliases`).
 */
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import ts from 'typescript';

const PROVES = /^\/\/ Proves: (.+)$/;
const CONTINUED = /^\/\/ {2,}(.+)$/;
const TESTS = new Set(['test', 'it', 'describe']);

/**
 * Returns all declarations.
 *
 * @param {string} root the checkout
 * @returns {readonly {file: string, line: number, endLine: number, title: string, subjects: readonly string[]}[]} a title consists of the titles of the
 *   describe blocks and of the test, joined by ` > `; a declaration before a describe has only those
 */
export function readDeclarations(root) {
  return readdirSync(join(root, 'test'), {recursive: true})
    .filter((name) => name.endsWith('.test.ts'))
    .toSorted()
    .flatMap((name) => declarationsOf(root, `test/${name}`));
}

function declarationsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  if (!text.includes('// Proves: ')) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node, titles) => {
    const title = ts.isExpressionStatement(node) ? titleOf(node.expression) : undefined;
    const inside = title === undefined ? titles : [...titles, title];
    const subjects = title === undefined ? [] : subjectsBefore(node, text);
    if (subjects.length > 0) {
      const [line, endLine] = [node.getStart(), node.getEnd()].map((position) => lineOf(source, position));
      found.push({file, line, endLine, title: inside.join(' > '), subjects});
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, []);
  const declared = text.split('\n').filter((line) => PROVES.test(line.trim())).length;
  if (found.length !== declared)
    throw new Error(`${file}: ${declared - found.length} "Proves" comments are not right before a test`);
  return found;
}

function lineOf(source, position) {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

/** Returns the title of `test('title', …)`, `test.each(…)('title', …)` or `describe('title', …)`. */
function titleOf(expression) {
  if (!ts.isCallExpression(expression)) return undefined;
  const [first] = expression.arguments;
  return first !== undefined && TESTS.has(rootName(expression.expression)) ? textOf(first) : undefined;
}

function rootName(expression) {
  if (ts.isIdentifier(expression)) return expression.text;
  return ts.isCallExpression(expression) || ts.isPropertyAccessExpression(expression)
    ? rootName(expression.expression)
    : '';
}

function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : undefined;
}

function subjectsBefore(node, text) {
  const lines = (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []).map(({pos, end}) =>
    text.slice(pos, end),
  );
  const start = lines.findLastIndex((line) => PROVES.test(line));
  if (start === -1) return [];
  const [, first] = PROVES.exec(lines[start]);
  const rest = lines.slice(start + 1).map((line) => CONTINUED.exec(line)?.[1] ?? '');
  return [first, ...rest]
    .join(' ')
    .split(',')
    .map((subject) => subject.trim())
    .filter(Boolean);
}

/** Returns the tests that declare each subject, as `FILE: TITLE`. */
export function testsBySubject(root) {
  const tests = new Map();
  for (const {file, title, subjects} of readDeclarations(root))
    for (const subject of subjects) tests.set(subject, [...(tests.get(subject) ?? []), `${file}: ${title}`]);
  return tests;
}
