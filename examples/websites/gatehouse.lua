core.register_action('gatehouse', { 'http-req' }, function(txn, website, headers)
  local asked = txn.http:req_get_headers()
  asked['x-forwarded-method'] = { [0] = txn.sf:method() }
  asked['x-forwarded-host'] = asked['host']
  asked['x-forwarded-uri'] = { [0] = txn.sf:pathq() }
  asked['x-forwarded-for'] = { [0] = txn.sf:src() }
  asked['host'] = { [0] = 'gatehouse:3000' }
  asked['content-length'] = nil
  asked['transfer-encoding'] = nil
  asked['expect'] = nil
  local url = 'http://gatehouse:3000/forward-auth/haproxy?website=' .. website
  local answer = core.httpclient():get({ url = url, headers = asked, timeout = 2000 })
  if answer.status == 200 then
    for name in headers:gmatch('[^,]+') do
      txn.http:req_set_header(name, answer.headers[name] and answer.headers[name][0] or '')
    end
    txn:set_var('txn.gatehouse', 1)
    return
  end
  local reply = txn:reply({ status = answer.status > 0 and answer.status or 503 })
  for _, name in ipairs({ 'location', 'set-cookie', 'content-type', 'retry-after', 'www-authenticate', 'x-gatehouse-reference' }) do
    for _, value in pairs(answer.headers and answer.headers[name] or {}) do
      reply:add_header(name, value)
    end
  end
  reply:set_body(answer.body or '')
  txn:done(reply)
end, 2)
