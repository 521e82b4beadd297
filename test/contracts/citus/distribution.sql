-- Reference tables are on every node, local ones on the coordinator alone.
select create_reference_table('shop.country');
select create_reference_table('shop.price_plan');
select create_distributed_table('shop.tenant', 'id');
select create_distributed_table('shop.account', 'tenant_id', colocate_with => 'shop.tenant');
select create_distributed_table('shop.project', 'tenant_id', colocate_with => 'shop.tenant');
select create_distributed_table('shop.task', 'tenant_id', colocate_with => 'shop.tenant');
select create_distributed_table('shop.comment', 'tenant_id', colocate_with => 'shop.tenant');
select create_distributed_table('shop.label', 'tenant_id', colocate_with => 'shop.tenant');
select create_distributed_table('shop.task_label', 'tenant_id', colocate_with => 'shop.tenant');
select create_distributed_table('shop.secret', 'tenant_id', colocate_with => 'shop.tenant');
