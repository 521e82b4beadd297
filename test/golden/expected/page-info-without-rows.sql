select '{"__typename":"ActConnection","pageInfo":{"__typename":"PageInfo","hasPreviousPage":' || 'false' || '}}';
