/**
 * Validation rule: a stream is the only field of its subscription, because each answer moves it on, so that nothing else can be answered
 * with it. `@skip` and `@include` make no difference, as in graphql-js's rule for all subscriptions.
 */
import { type ASTVisitor, type FieldNode, GraphQLError, Kind, type SelectionSetNode, type ValidationContext } from 'graphql';
import { fieldBinding } from '../../schema/bindings.ts';

export function LoneStreamRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition({ operation, selectionSet }) {
      const type = context.getSchema().getSubscriptionType();
      if (operation !== 'subscription' || !type) return;
      const fields = rootFields(context, selectionSet, new Map(), new Set());
      if (fields.size < 2) return;
      const definitions = type.getFields();
      const stream = [...fields.values()].find(({ name }) => {
        const definition = definitions[name.value];
        return definition !== undefined && fieldBinding(definition)?.kind === 'stream';
      });
      if (stream === undefined) return;
      const message = 'A stream must be the only field of its subscription. Subscribe to the others by themselves.';
      context.reportError(new GraphQLError(message, { nodes: [stream] }));
    },
  };
}

/** The first node of each response key. */
function rootFields(
  context: ValidationContext,
  { selections }: SelectionSetNode,
  fields: Map<string, FieldNode>,
  spread: Set<string>,
): ReadonlyMap<string, FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      if (selection.name.value !== '__typename' && !fields.has(key)) fields.set(key, selection);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) rootFields(context, selection.selectionSet, fields, spread);
    else if (!spread.has(selection.name.value)) {
      spread.add(selection.name.value);
      const fragment = context.getFragment(selection.name.value);
      if (fragment) rootFields(context, fragment.selectionSet, fields, spread);
    }
  }
  return fields;
}
