import ts from 'typescript';

const {SyntaxKind} = ts;

/** Replacements of comparison and arithmetic operators. */
const OPERATORS = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
};
/** Binary operators that are replaced by either operand, which is harder to detect than another operator. */
const LOGICAL = ['&&', '||', '??'];
const METHODS = {
  some: 'every',
  every: 'some',
  find: 'findLast',
  findLast: 'find',
  findLastIndex: 'findIndex',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  max: 'min',
  min: 'max',
  floor: 'ceil',
};
/** Methods whose call can be replaced by the object it is called on. */
const REMOVABLE = ['filter', 'slice', 'toSorted', 'toReversed', 'trim'];
/** Methods with a predicate. */
const WITH_PREDICATE = ['some', 'every', 'filter', 'find', 'findLast', 'findLastIndex'];

/**
 * Lists all small faults that can be applied to a source file, in order: operators, conditions, literals, returned
 * values, elements, properties and statements. Types and imports are not changed.
 *
 * @returns {{start: number, end: number, line: number, from: string, to: string}[]} lines start at 1.
 */
export function listMutants(text) {
  const file = ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.Latest, true);
  const found = new Map();
  const add = (start, end, to) => {
    const from = text.slice(start, end);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    if (from !== to) found.set(`${start} ${end} ${to}`, {start, end, line, from, to});
  };
  const replace = (node, to) => add(node.getStart(), node.end, to);
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    for (const mutate of MUTATORS) mutate(node, {replace, add});
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...found.values()].toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns the text with a mutation applied. */
export function applyMutant(text, {start, end, to}) {
  return text.slice(0, start) + to + text.slice(end);
}

const MUTATORS = [operators, conditions, literals, methods, elements, statements, returns];

function operators(node, {replace}) {
  if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    replace(node, node.operand.getText());
  if (!ts.isBinaryExpression(node)) return;
  const {left, right, operatorToken} = node;
  for (const operator of OPERATORS[operatorToken.getText()] ?? []) replace(operatorToken, operator);
  if (!LOGICAL.includes(operatorToken.getText())) return;
  replace(node, left.getText());
  replace(node, right.getText());
}

function conditions(node, {replace}) {
  const condition = ts.isConditionalExpression(node)
    ? node.condition
    : ts.isIfStatement(node) || ts.isWhileStatement(node)
      ? node.expression
      : undefined;
  for (const value of condition === undefined ? [] : ['true', 'false']) replace(condition, value);
}

function literals(node, {replace, add}) {
  if (node.kind === SyntaxKind.TrueKeyword) replace(node, 'false');
  if (node.kind === SyntaxKind.FalseKeyword) replace(node, 'true');
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) {
    const suffix = ts.isBigIntLiteral(node) ? 'n' : '';
    const value = BigInt(node.getText().replaceAll('_', '').replace('n', ''));
    for (const other of [value + 1n, value - 1n]) replace(node, `${other}${suffix}`);
  }
  if (ts.isStringLiteral(node)) replace(node, node.text === '' ? "'other'" : "''");
  if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) replace(node, "''");
  if (!ts.isRegularExpressionLiteral(node)) return;
  if (node.text.startsWith('/^')) add(node.getStart() + 1, node.getStart() + 2, '');
  const close = node.getStart() + node.text.lastIndexOf('/');
  if (node.text[node.text.lastIndexOf('/') - 1] === '$') add(close - 1, close, '');
}

function methods(node, {replace}) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
  const {name, expression: target} = node.expression;
  const other = METHODS[name.text];
  if (other !== undefined) replace(name, other);
  if (REMOVABLE.includes(name.text)) replace(node, target.getText());
  const [predicate] = node.arguments;
  if (
    WITH_PREDICATE.includes(name.text) &&
    predicate &&
    ts.isArrowFunction(predicate) &&
    !ts.isBlock(predicate.body)
  )
    for (const value of ['true', 'false']) replace(predicate.body, value);
}

function elements(node, {add}) {
  const list = ts.isArrayLiteralExpression(node)
    ? node.elements
    : ts.isObjectLiteralExpression(node)
      ? node.properties
      : [];
  for (const [index, element] of list.entries())
    if (index > 0) add(list[index - 1].end, element.end, '');
    else add(element.getStart(), list[1]?.getStart() ?? element.end, '');
}

function statements(node, {replace}) {
  const isRemovable =
    ts.isExpressionStatement(node) ||
    ts.isThrowStatement(node) ||
    ts.isForOfStatement(node) ||
    ts.isBreakStatement(node) ||
    ts.isContinueStatement(node);
  if (isRemovable) replace(node, '{}');
}

/** Replaces returned values by constants of the function's return type. */
function returns(node, {replace}) {
  const value = ts.isReturnStatement(node)
    ? node.expression
    : ts.isArrowFunction(node) && !ts.isBlock(node.body)
      ? node.body
      : undefined;
  // Code with `satisfies never` is unreachable.
  if (value === undefined || ts.isSatisfiesExpression(value)) return;
  const type = ts.findAncestor(node, ts.isFunctionLike)?.type?.getText() ?? '';
  if (type === 'boolean') for (const constant of ['true', 'false']) replace(value, constant);
  if (type.endsWith('| undefined')) replace(value, 'undefined');
  if (type.endsWith('[]')) replace(value, '[]');
}
