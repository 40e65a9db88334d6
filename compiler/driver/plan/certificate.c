/* driver/plan/certificate.c - ein plan --certificate c.json: everything that share/check_plan.py needs to check a plan
 * without ein.
 * docs/schema/ein-certificate-1.json says what it has. It contains no proof of the bound, which only a new search could
 * check. */
#include "sites.h"

#include "expr/einsum.h"

static void ties_put(Json *j, const Ties *ties) {
  json_array(j, "ties");
  for (uint32_t k = 0; ties && k < ties->n; k++) {
    json_object(j, NULL);
    json_int(j, "label", ties->at[k].label);
    put_count(j, "values", ties->at[k].values);
    json_each(j, "given", l, TIE_LABELS)
      if (ties->at[k].given >> l & 1) json_int(j, NULL, l);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void equations_put(Json *j, const Sites *p) {
  json_vec_each(j, "equations", const PartVertex, v, p->g->vertices) {
    SumCount c = v->sum ? sum_count(v->sum, NULL) : (SumCount){0};
    json_object(j, NULL);
    put_count(j, "operations", v->inner * (double)(c.flops + c.integer));
    json_ints(j, "most", v->n_label, v->most);
    ties_put(j, v->ties);
    put_count(j, "kept", part_points(v, NULL));
    json_end(j, '}');
  }
}

Leave certificate_write(const Sites *p, const Args *a, const char *path) {
  Session *s = p->s;
  Buf out = buf_new(s->arena), plan = buf_new(s->arena), tasks = buf_new(s->arena), why = buf_new(s->arena);
  Json j = json_new(&out);
  if (p->keys) return fail(s, LEAVE_USAGE, "--certificate is of a program's equations, and %s is past them", p->j.path);
  if (!p->asked.by_bytes)
    return fail(s, LEAVE_USAGE, "--certificate is for plans on a mesh, by any cost but eindecomp");
  bytes_json(p, &plan);
  json_object(&j, NULL);
  json_str(&j, "schema", "ein certificate 1");
  json_raw(&j, "plan", plan.s, plan.len);
  json_bool(&j, "pinned", arg_has(a, OPT_PIN) || arg_has(a, OPT_PLAN_FILE) || p->fit.unlimited);
  equations_put(&j, p);
  json_str(&j, "tasks", task_text_try(p, false, &tasks, &why) ? tasks.s : NULL);
  json_end(&j, '}');
  return file_write(s, path, out.s, out.len);
}
